import java.io.File;
import java.beans.PropertyDescriptor;
import javax.swing.DefaultListModel;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.NaiveBayes;
import weka.classifiers.rules.ZeroR;
import weka.classifiers.trees.J48;
import weka.experiment.*;

/** An experiment of Weka with four schemes on two data sets, written as ARFF and as CSV. */
public class MakeWeka {
  static J48 tree(String... options) throws Exception {
    J48 made = new J48();
    made.setOptions(options);
    return made;
  }

  public static void main(String[] args) throws Exception {
    Experiment exp = new Experiment();
    Classifier[] schemes = {new ZeroR(), new NaiveBayes(), tree("-C", "0.25", "-M", "2"), tree("-U", "-M", "2")};
    exp.setPropertyArray(schemes);
    exp.setUsePropertyIterator(true);
    ClassifierSplitEvaluator evaluator = new ClassifierSplitEvaluator();
    Classifier first = evaluator.getClassifier();
    CrossValidationResultProducer producer = new CrossValidationResultProducer();
    producer.setNumFolds(3);
    producer.setSplitEvaluator(evaluator);
    PropertyNode[] path = {
      new PropertyNode(evaluator,
          new PropertyDescriptor("splitEvaluator", CrossValidationResultProducer.class),
          CrossValidationResultProducer.class),
      new PropertyNode(first,
          new PropertyDescriptor("classifier", evaluator.getClass()), evaluator.getClass())};
    exp.setResultProducer(producer);
    exp.setPropertyPath(path);
    exp.setRunLower(1);
    exp.setRunUpper(2);
    DefaultListModel files = new DefaultListModel();
    files.addElement(new File(args[1]));
    files.addElement(new File(args[2]));
    exp.setDatasets(files);
    ResultListener listener;
    if (args[0].endsWith(".csv")) {
      CSVResultListener csv = new CSVResultListener();
      csv.setOutputFile(new File(args[0]));
      listener = csv;
    } else {
      InstancesResultListener arff = new InstancesResultListener();
      arff.setOutputFile(new File(args[0]));
      listener = arff;
    }
    exp.setResultListener(listener);
    exp.initialize();
    exp.runExperiment();
    exp.postProcess();
  }
}
